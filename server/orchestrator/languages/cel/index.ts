export { type Expression, expression, SMALL_UNITS } from './expression.ts';
export { CelSyntaxError, MAX_EXPRESSION_LENGTH } from './syntax.ts';
export { CelError, type CelValue, jsonOf, typeName } from './values.ts';
