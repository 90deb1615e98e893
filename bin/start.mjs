/**
 * `npm start` and `npm run dev`: brings the checkout up to date and then stands for the server. Runs on any Node from 20 on,
 * with nothing installed; the server runs on the Node that npm installed.
 */
import { build, generate, install } from './prepare.mjs';
import { become, ownNode, say } from './process.mjs';

const development = process.argv.includes('--dev');

try {
  await install();
  await generate();
  if (!development) await build();
  process.exitCode = await become(ownNode, ['bin/serve.mjs'], {
    NODE_ENV: development ? 'development' : 'production',
    NEXT_TELEMETRY_DISABLED: '1',
  });
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
