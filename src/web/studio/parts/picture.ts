/** A picture file as the service keeps it: a `data:` address, made smaller if it is too large. */
import { mostPictureBytes } from '../base/content.js';

const kept = ['image/png', 'image/jpeg', 'image/webp'];
const widest = 1600;

const addressOf = async (blob: Blob): Promise<string> => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:${blob.type};base64,${btoa(text)}`;
};

const drawn = (picture: ImageBitmap, width: number, quality: number): Promise<Blob | null> => {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = Math.max(1, Math.round((picture.height * width) / picture.width));
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', quality));
};

/** Rejects if the file is no picture that the browser can read. */
export const pictureOf = async (file: Blob): Promise<string> => {
  const picture = await createImageBitmap(file).catch(() => {
    throw new Error('This file is no picture that the browser can read. Choose a png, jpeg or webp file.');
  });
  try {
    if (kept.includes(file.type) && file.size <= mostPictureBytes) return await addressOf(file);
    for (let width = Math.min(widest, picture.width); width >= 1; width = Math.floor(width * 0.75)) {
      const blob = await drawn(picture, width, 0.85);
      // A browser that cannot write webp writes png.
      if (blob !== null && blob.size <= mostPictureBytes) return await addressOf(blob);
    }
    throw new Error('The browser cannot make this picture small enough. Choose a smaller one.');
  } finally {
    picture.close();
  }
};
