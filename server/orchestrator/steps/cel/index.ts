export { type CelScope, CelSyntaxError, type Expression, expression, LONGEST_EXPRESSION } from './expression.ts';
export { CelError, typeName } from './values.ts';
