import { printLine } from './process.mjs';

/**
 * Parses the arguments of an npm script. Wrong ones are reported in one line with a hint, and end the process with exit code 2;
 * --help ends it with 0.
 * @template {import('@commander-js/extra-typings').CommandUnknownOpts} Command
 * @param {Command} command whose name is how the script is called, such as `npm run fuzz --`
 * @param {readonly string[]} [args]
 * @param {(code: number, message: string) => never} [exit]
 * @returns {Command}
 */
export function parseArguments(command, args = process.argv.slice(2), exit = code => process.exit(code)) {
  command
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'baton: ').replace('\n(', ' (')) })
    .showHelpAfterError(`See ${command.name()} --help.`)
    .exitOverride(({ exitCode, message }) => exit(exitCode === 0 ? 0 : 2, message));
  return command.parse([...args], { from: 'user' });
}

/**
 * Reads the arguments of an npm script as `declare` describes them. `declare` also gets a function that makes a parser of integers with a
 * minimum. Call it after the installation, which contains commander.
 */
export async function readCommandLine(name, description, declare = () => undefined) {
  const { Command, InvalidArgumentError } = await import('commander');
  const wholeNumber = minimum => text => {
    const number = Number(text);
    if (Number.isSafeInteger(number) && number >= minimum) return number;
    throw new InvalidArgumentError(`It takes a whole number from ${minimum}.`);
  };
  const command = new Command(name).description(description);
  declare(command, wholeNumber);
  return parseArguments(command);
}

/** Runs the work of an npm script and sets the exit code: the result of `work`, or 1 and an error of one line if `work` fails. */
export async function runScript(work) {
  try {
    process.exitCode = await work();
  } catch (error) {
    printLine(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
