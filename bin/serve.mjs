/**
 * The server's process, as `npm start` runs it. A signal that arrives while the server starts is kept until it can stop in
 * order: dying at once would leave PostgreSQL running.
 */
let early;
const keep = signal => {
  early ??= signal;
};
process.on('SIGINT', keep);
process.on('SIGTERM', keep);
process.on('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
// The parent was killed without a chance to pass anything on.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

await import('../server/main.ts');
process.off('SIGINT', keep);
process.off('SIGTERM', keep);
if (early) process.kill(process.pid, early);
