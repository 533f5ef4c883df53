// Simulates several front ends of a guest: each sends its next query when it has its answer. Throws if an answer is not 200.
import { Agent, request } from 'node:http';

const post = (agent, url, { token, body }) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(
      url,
      { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          response.statusCode === 200
            ? resolve(Buffer.concat(chunks))
            : reject(new Error(`${response.statusCode} ${Buffer.concat(chunks)}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

export const load = async (base, target, { connections, seconds }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const url = new URL(target.path, base);
  const end = performance.now() + seconds * 1000;
  let count = 0;
  let spent = 0;
  const loop = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      await post(agent, url, target);
      spent += performance.now() - start;
      count += 1;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, loop));
  agent.destroy();
  return { perSecond: (count * 1000) / (performance.now() - start), ms: spent / count };
};

export const once = async (base, target) => {
  const agent = new Agent();
  const answer = await post(agent, new URL(target.path, base), target);
  agent.destroy();
  return JSON.parse(answer.toString());
};
