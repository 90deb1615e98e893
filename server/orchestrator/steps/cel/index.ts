export type { CelScope } from './compiler.ts';
export { type Expression, expression, SMALL_UNITS } from './expression.ts';
export { CelSyntaxError, LONGEST_EXPRESSION } from './syntax.ts';
export { CelError, typeName } from './values.ts';
