// The floor for the dashboard's first view: bare node:http, a page with one script that writes a heading.
// node page-server.mjs PORT
import { createServer } from 'node:http';

const page =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Floor</title><div id="root"></div>' +
  '<script type="module" src="/page.js"></script></html>';
const script = `document.getElementById('root').innerHTML = '<main><h1>Overview</h1></main>';`;
const FILES = { '/': ['text/html; charset=utf-8', page], '/page.js': ['text/javascript; charset=utf-8', script] };

createServer((request, response) => {
  const [type, body] = FILES[request.url] ?? ['text/plain', ''];
  response.writeHead(type === 'text/plain' ? 404 : 200, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}).listen(Number(process.argv[2]), '127.0.0.1');
