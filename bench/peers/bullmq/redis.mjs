import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

/**
 * Starts a separate Redis, configured as BullMQ's guide to production recommends, except that every write is on
 * disk before it is answered.
 */
export async function startRedis(folder) {
  const socket = join(folder.path, 'redis.sock');
  const settings = {
    port: 0,
    unixsocket: socket,
    dir: folder.path,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn('redis-server', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  folder.own(server.pid);
  const client = new Redis({ path: socket, maxRetriesPerRequest: null, retryStrategy: () => 50 });
  client.on('error', () => undefined); // it has not started yet
  while ((await client.ping().catch(() => '')) !== 'PONG') await delay(20);
  const config = Object.fromEntries([
    await client.config('GET', 'appendfsync'),
    await client.config('GET', 'appendonly'),
  ]);
  client.disconnect();
  if (config.appendfsync !== 'always' || config.appendonly !== 'yes') throw new Error('Redis does not write to disk.');
  const version = execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)?.[1] ?? 'unknown';
  return { socket, pid: server.pid, version };
}
