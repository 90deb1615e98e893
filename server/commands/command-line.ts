import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { ConfigError } from '../operation/config.ts';
import { MasterKeyError } from '../platform/crypto/master-key.ts';
import { AppError } from '../platform/errors.ts';
import { StartupError } from '../platform/postgres/startup-error.ts';

/** How an operator types the command line, in usage lines and hints. */
const PROGRAM = 'npm run baton --';

/** The output of a command: `value` is the JSON document of `--json`, `code` the exit code (default 0). */
export type Outcome = { text: string; value?: unknown; code?: number };

/**
 * Runs the work of a command after its arguments were parsed, so that wrong arguments open no database. With `json` it
 * prints the value instead of the text.
 */
export type Run<Services> = (
  work: (services: Services) => Promise<Outcome>,
  options?: { json?: true | undefined },
) => Promise<void>;

/** Adds the arguments, options, subcommands and actions of one command. */
export type Declare<Services> = (command: Command, run: Run<Services>) => void;

/** A command; `open` provides its services while it works. */
export type OperatorCommand = { declare(command: Command): void };

/** Wrong arguments. The message is one line; `hint` names the help of the command that got them. */
export class UsageError extends Error {
  override name = 'UsageError';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** Returns the command that prints what `declare`'s actions return. */
export function operatorCommand<Services>(
  declare: Declare<Services>,
  open: (work: (services: Services) => Promise<Outcome>) => Promise<Outcome>,
): OperatorCommand {
  const run: Run<Services> = async (work, options) => {
    const outcome = await open(work);
    process.stdout.write(`${printed(outcome, options)}\n`);
    process.exitCode = outcome.code ?? 0;
  };
  return { declare: command => declare(command, run) };
}

/** Returns what a command prints on standard output. */
export const printed = ({ text, value }: Outcome, options: { json?: true | undefined } = {}): string =>
  options.json ? JSON.stringify(value, null, 2) : text;

type Listed = { description: string; load: () => Promise<OperatorCommand> };

/**
 * Returns the program with all commands. A command is loaded only when it is called: some take half a second to load.
 */
export function createProgram(listed: Readonly<Record<string, Listed>>): Command {
  const program = new Command(PROGRAM).description('Commands for operators of Baton.');
  for (const [name, { description }] of Object.entries(listed)) program.command(name).description(description);
  program.hook('preSubcommand', async (_, named) => {
    const command = program.commands.find(each => each === named);
    const loaded = await listed[named.name()]?.load();
    if (command === undefined || loaded === undefined) return;
    loaded.declare(command as Command);
    reportUsage(command);
  });
  return program;
}

/** Turns each wrong argument into a UsageError that names the command that got it. */
function reportUsage(command: CommandUnknownOpts): void {
  command.configureOutput({ outputError: () => undefined });
  command.exitOverride(error => {
    // Help was printed, because it was asked for or because a subcommand is missing.
    if (error.exitCode === 0 || error.code === 'commander.help') throw error;
    throw new UsageError(error.message.replace(/^error: /, '').replaceAll('\n', ' '), hintOf(command));
  });
  for (const subcommand of command.commands) reportUsage(subcommand);
}

function hintOf(command: CommandUnknownOpts): string {
  const path = [command.name()];
  for (let parent = command.parent; parent !== null; parent = parent.parent) path.unshift(parent.name());
  return `See ${path.join(' ')} --help.`;
}

/** Parses the arguments and runs the command they name. Throws UsageError for wrong ones, and what the command throws. */
export async function parse(command: CommandUnknownOpts, args: readonly string[]): Promise<void> {
  reportUsage(command);
  await command.parseAsync([...args], { from: 'user' });
}

/**
 * Runs the program and sets the exit code of this process: the command's, or 1 with a line on standard error. An error
 * that an operator can act on is printed without a stack; any other is a defect and is printed with its stack.
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<void> {
  try {
    await parse(program, args);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode;
      return;
    }
    process.stderr.write(`baton: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n${error.hint}`;
  if (error instanceof AppError)
    return [error.message, ...(error.details ?? []).map(({ path, message }) => `  ${path}: ${message}`)].join('\n');
  if (error instanceof StartupError || error instanceof ConfigError || error instanceof MasterKeyError)
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
