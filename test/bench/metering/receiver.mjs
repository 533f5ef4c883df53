// Takes spans, and counts them.
import { createServer } from 'node:http';

export const openReceiver = async () => {
  const taken = { spans: 0 };
  const server = createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      taken.spans += JSON.parse(Buffer.concat(pieces)).length;
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, taken, stop };
};
