// The floor for HTTP figures: bare node:http that reads the body and returns JSON of a given size.
// node floor-server.mjs PORT SIZE
import { createServer } from 'node:http';

const [port, size] = process.argv.slice(2).map(Number);
const body = JSON.stringify({ filler: 'x'.repeat(Math.max(0, size - 13)) });
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) };

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    response.writeHead(200, headers).end(body);
  });
}).listen(port, '127.0.0.1');
