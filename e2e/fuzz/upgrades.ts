import type { World } from './requests.ts';
import type { Source } from './source.ts';

/** Returns a WebSocket frame (RFC 6455, 5.2), valid or invalid. Latin-1: a character is a byte. */
function frame(source: Source): string {
  const opcode = source.pick([0, 1, 1, 2, 8, 9, 10, 3, 7, 11, 15]);
  const first = (source.oneIn(5) ? 0 : 0x80) | (source.oneIn(12) ? source.pick([0x10, 0x40, 0x70]) : 0) | opcode;
  const payload = source.bytes(0, source.oneIn(10) ? 5000 : 60);
  const masked = !source.oneIn(10);
  const declaredLength = source.oneIn(15) ? source.pick([0, 126, 65_536, 2 ** 31, 2 ** 53]) : payload.length;
  const head = Buffer.alloc(10);
  head[0] = first;
  const mask = masked ? 0x80 : 0;
  let length = 2;
  if (declaredLength < 126) head[1] = mask | declaredLength;
  else if (declaredLength < 65_536) {
    head[1] = mask | 126;
    head.writeUInt16BE(declaredLength, 2);
    length = 4;
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(declaredLength), 2);
    length = 10;
  }
  return head.toString('latin1', 0, length) + (masked ? '\0\0\0\0' : '') + payload;
}

/** Returns an upgrade to the event stream or to another path, and the frames to send after it. */
export function upgrade(source: Source, world: World): [handshake: string, frames: string] {
  const stream = `/v1/workflows/${world.workflow}/stream`;
  const target = source.oneIn(3)
    ? source.pick(['//', '/', '///', '/mcp', '/v1/workflows/nope/stream', '/_next/webpack-hmr', '*', 'http://[', '/%'])
    : stream +
      source.pick([
        '',
        '',
        `?run_id=${world.run}&after=0`,
        '?run_id=x',
        '?%',
        `?tenant_id=${source.bytes(1, 3).replace(/[\s\0]/g, '')}`,
      ]);
  const lines = [
    `${source.oneIn(20) ? 'POST' : 'GET'} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Connection: ${source.oneIn(10) ? 'upgrade, close' : 'Upgrade'}`,
    `Upgrade: ${source.oneIn(10) ? source.pick(['WebSocket', 'websocket, h2c', 'h2c', 'websocketx', '']) : 'websocket'}`,
    `Sec-WebSocket-Version: ${source.oneIn(10) ? source.pick(['8', '14', 'x', '']) : '13'}`,
    `Sec-WebSocket-Key: ${source.oneIn(10) ? source.pick(['', 'x', 'AAAA']) : 'dGhlIHNhbXBsZSBub25jZQ=='}`,
    ...(source.oneIn(6)
      ? [`Sec-WebSocket-Protocol: ${source.pick(['bearer', 'bearer, x', ',', ',,,', 'bearer,'])}`]
      : []),
    ...(source.oneIn(6) ? [`Sec-WebSocket-Extensions: ${source.pick(['permessage-deflate', ';', 'x;y="'])}`] : []),
    ...(source.oneIn(8) ? [] : [`Authorization: Bearer ${world.token}`]),
  ];
  const handshake = `${lines.join('\r\n')}\r\n\r\n`;
  const after = source.oneIn(8) ? source.bytes(0, 300) : source.many(0, 12, () => frame(source)).join('');
  return [source.oneIn(20) ? source.mutate(handshake) : handshake, after];
}
