/** Example token usage of a model call. */
export const USAGE = { input_tokens: 0, output_tokens: 0 };

/** Returns a field of a draft's step as text; empty if the field has another type. */
export const fieldText = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOf = (value: unknown): string => fieldText(value).trim();
export const orNull = (text: string): string | null => text || null;

/** Returns an expression without the prefixes that all paths have. Quoted texts stay unchanged. */
export function shortExpression(expression: string): string {
  return expression.replaceAll(
    /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\binput\.|\bsteps\.(\w+)\.result\b/g,
    (found, step: string | undefined) => (found === 'input.' ? '' : (step ?? found)),
  );
}

export const withShortTemplates = (text: string): string =>
  text.replaceAll(/\{\{\s*(.*?)\s*\}\}/gs, (_, path: string) => `{${shortExpression(path)}}`);

export const templateOf = (value: unknown): string =>
  textOf(value).includes('{{') ? withShortTemplates(textOf(value)) : '';

export function firstLine(value: unknown): string | null {
  return orNull(withShortTemplates(textOf(value)).split('\n', 1)[0] ?? '');
}

export const modelOf = (model: unknown): string => textOf(model).split('/').at(-1) ?? '';
