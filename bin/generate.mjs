/** `npm run generate`: generates the database client if prisma/schema.prisma has changed. */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';

await runScript(async () => {
  await install();
  await readCommandLine('npm run generate --', 'Generates the database client where the schema has changed.');
  await generate();
  return 0;
});
