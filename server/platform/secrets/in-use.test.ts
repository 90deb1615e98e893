import { expect, test } from 'vitest';
import { AppError } from '../errors.ts';
import { createLogger } from '../logger.ts';
import { inSecretScope, noteSecrets } from './in-use.ts';

const secret = 'sk-live-"0123\n4567';
const thrownBy = (work: () => Promise<unknown>) =>
  inSecretScope(work).then(
    () => undefined,
    (error: unknown) => error as Error,
  );

/** Returns a logger, and the lines that it wrote. */
function recording() {
  const lines: string[] = [];
  return { lines, logger: createLogger('debug', { destination: { write: line => void lines.push(line) } }) };
}

test('no line that is written while a secret is in use contains it, regardless of which code logs it', async () => {
  const { lines, logger } = recording();
  const child = logger.child({ called: secret });
  await inSecretScope(async () => {
    logger.info({ id: 1 }, 'before');
    noteSecrets([secret]);
    await Promise.resolve();
    const error = new TypeError(`Headers.append: "Bearer ${secret}" is an invalid header value.`, {
      cause: new Error(`because of ${secret}`),
    });
    logger.error(
      { err: error, deep: [{ [secret]: `x${secret}y` }], json: JSON.stringify({ said: { secret } }) },
      secret,
    );
    child.warn('from a child');
    await new Promise<void>(resolve =>
      setTimeout(() => {
        logger.info(`later: ${secret}`);
        resolve();
      }, 0),
    );
  });
  expect(lines).toHaveLength(4);
  const said = lines.map(line => JSON.parse(line) as Record<string, unknown>);
  expect(JSON.stringify(said)).not.toMatch(/0123|4567/);
  expect(said[0]).toMatchObject({ id: 1, msg: 'before' });
  expect(said[1]).toMatchObject({ level: 50, msg: '[redacted]', err: { type: 'TypeError' } });
  for (const line of lines) expect(line).toMatch(/^\{.*\}\n$/s);
});

test('an error thrown out of the scope no longer contains the secret: message, stack, causes and fields', async () => {
  const error = await thrownBy(async () => {
    noteSecrets([secret]);
    const cause = Object.assign(new Error(`inner ${secret}`), {
      url: `https://x/?key=${encodeURIComponent(secret)}`,
      n: 1,
    });
    throw Object.assign(new TypeError(`outer ${secret}`, { cause }), { errors: [new Error(`one of ${secret}`)] });
  });
  expect(error).toBeInstanceOf(TypeError);
  expect(error?.message).toBe('outer [redacted]');
  expect(error?.cause).toMatchObject({ message: 'inner [redacted]', url: 'https://x/?key=[redacted]', n: 1 });
  const { lines, logger } = recording();
  logger.error({ err: error }, 'a request failed');
  expect(lines.join('')).not.toMatch(/0123|4567/);
});

test('an error keeps its class, its code and its cause, and one that refers to itself ends', async () => {
  const original = new AppError(409, 'connection_expired', `It is ${secret}.`, {
    details: [{ path: 'a', message: 'b' }],
  });
  Reflect.set(original, 'cause', original);
  const error = await thrownBy(async () => {
    noteSecrets([secret]);
    throw original;
  });
  expect(error).toBe(original);
  expect(error).toMatchObject({ status: 409, code: 'connection_expired', message: 'It is [redacted].' });
});

test('a secret of one call is not redacted in another', async () => {
  const { lines, logger } = recording();
  await Promise.all([
    inSecretScope(async () => {
      noteSecrets(['first-secret']);
      await Promise.resolve();
      logger.info('first-secret second-secret');
    }),
    inSecretScope(async () => {
      noteSecrets(['second-secret']);
      await Promise.resolve();
      logger.info('first-secret second-secret');
    }),
  ]);
  logger.info('first-secret second-secret');
  expect(lines.map(line => JSON.parse(line).msg)).toEqual([
    '[redacted] second-secret',
    'first-secret [redacted]',
    'first-secret second-secret',
  ]);
});

test('a nested scope redacts the secrets of both, and outside of any scope nothing is registered', async () => {
  noteSecrets([secret]);
  const { lines, logger } = recording();
  await inSecretScope(async () => {
    noteSecrets(['outer-secret']);
    await inSecretScope(async () => {
      noteSecrets(['inner-secret']);
      logger.info('outer-secret inner-secret');
    });
    logger.info('outer-secret inner-secret');
  });
  expect(lines.map(line => JSON.parse(line).msg)).toEqual(['[redacted] [redacted]', '[redacted] [redacted]']);
});
