/** Answers every request with the same small JSON, on any port of 127.0.0.1, until the parent ends. */
import { createServer } from 'node:http';

const BODY = '{"n":1}';
const HEADERS = { 'content-type': 'application/json', 'content-length': BODY.length };

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, HEADERS).end(BODY);
});
// The systems keep their connections open while other systems are measured.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  process.send?.(`http://127.0.0.1:${address.port}/`);
});
process.once('disconnect', () => process.exit());
