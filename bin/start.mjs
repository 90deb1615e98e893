/**
 * `npm start` and `npm run dev`: brings the checkout up to date and becomes the server. Runs on any Node from 20 on, with
 * nothing installed; everything after the installation runs on the Node that npm installed.
 */
import { build, generate, install } from './prepare.mjs';
import { become, endWithParent, ownNode, root, say } from './process.mjs';

const development = process.argv.includes('--dev');

try {
  await install();
  // npm puts its own Node first in PATH once there is one, so this hop is for the first start and for starts without npm.
  if (process.versions.node.startsWith('24.')) await serve();
  else process.exitCode = await become(ownNode, process.argv.slice(1));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function serve() {
  await generate();
  if (!development) await build();
  process.env.NODE_ENV = development ? 'development' : 'production';
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  process.chdir(root);
  endWithParent();
  await import('../server/main.ts');
}
