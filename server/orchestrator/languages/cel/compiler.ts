import { canonicalNumber, isInt64, isNumber } from '../../../platform/json-text.ts';
import type { JsonValue } from '../../core/index.ts';
import { constantBytes, encoders } from './encoders.ts';
import { type CelFunction, globalFunctions, iterate, methods } from './functions.ts';
import { negate } from './numbers.ts';
import type { CelScope } from './scope.ts';
import { CelSyntaxError, type Node } from './syntax.ts';
import {
  type Arithmetic,
  arithmetic,
  type Budget,
  CelError,
  type CelValue,
  compare,
  equal,
  isMap,
  member,
  quote,
  typeName,
} from './values.ts';

export type Frame = { scope: CelScope; budget: Budget; locals: CelValue[] };
export type Run = (frame: Frame) => CelValue;

const operatorsOf = {
  arithmetic: new Set(['+', '-', '*', '/', '%']),
  order: new Set(['<', '<=', '>', '>=']),
};

const boolean = (value: CelValue, what: string): boolean => {
  if (typeof value === 'boolean') return value;
  throw new CelError(`${what} takes booleans, not ${typeName(value)}`);
};

/** The cost of creating an error: a few microseconds, because it captures the stack. */
const ERROR_UNITS = 20;

/** `a && b` and `a || b` as CEL defines them: an error on one side is ignored if the other side decides the result. */
function logical(left: Run, right: Run, decisive: boolean, name: string): Run {
  return frame => {
    let failure: CelError | undefined;
    try {
      if (boolean(left(frame), name) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelError) || error.code === 'expression_too_costly') throw error;
      frame.budget.spend(ERROR_UNITS);
      failure = error;
    }
    if (boolean(right(frame), name) === decisive) return decisive;
    if (failure) throw failure;
    return !decisive;
  };
}

const PARSED_CHARACTERS_PER_UNIT = 32;

/** Asks for the result instead of the set of ancestors, which takes time to build for each step of a long chain. */
function stepResult(step: string, { scope, budget }: Frame): JsonValue {
  budget.spend(Math.ceil((scope.resultText?.(step)?.length ?? 0) / PARSED_CHARACTERS_PER_UNIT));
  try {
    return scope.result(step);
  } catch {
    throw new CelError(`"${step.slice(0, 80)}" is no step before this one`);
  }
}

/** A step as expressions read it. `error` is present only if the step failed, so that `has` can test for it. */
function stepValue(step: string, frame: Frame): CelValue {
  const result = stepResult(step, frame);
  const error = frame.scope.errorOf?.(step);
  return error === undefined ? { result } : { result, error };
}

function itemValue(name: 'item' | 'index', { item }: CelScope): CelValue {
  if (item == null) throw new CelError(`there is no "${name}": this step is not in a loop`);
  return item[name];
}

/** Turns a syntax tree into closures, once per expression. Throws CelSyntaxError for a tree without meaning. */
export class Compiler {
  /** Ids of the steps named literally so far. */
  readonly steps = new Set<string>();
  /** Whether the expression reads steps that it does not name: `steps` as a whole, or `steps[input.name]`. */
  readsAnyStep = false;
  /** Whether the expression reads `item` or `index`. */
  readsItem = false;
  #locals: string[] = [];

  compile(node: Node): Run {
    const run = this.#node(node);
    return frame => {
      frame.budget.spend(1);
      return run(frame);
    };
  }

  #fail(node: Node, message: string): never {
    throw new CelSyntaxError(`${message} at character ${node.pos + 1}`, node.pos);
  }

  #node(node: Node): Run {
    if (operatorsOf.arithmetic.has(node.op)) return this.#arithmetic(node);
    if (operatorsOf.order.has(node.op)) return this.#order(node);
    switch (node.op) {
      case 'value':
        return this.#value(node);
      case 'id':
        return this.#name(node);
      case '.':
      case '[]':
        return this.#access(node);
      case '==':
      case '!=':
        return this.#equality(node);
      case '||':
      case '&&': {
        const [left, right] = this.#pair(node);
        return logical(left, right, node.op === '||', node.op);
      }
      case 'in':
        return this.#in(node);
      case '!_': {
        const operand = this.compile(node.args as Node);
        return frame => !boolean(operand(frame), '!');
      }
      case '-_':
        return this.#negative(node);
      case '?:':
        return this.#choice(node);
      case 'list':
        return this.#list(node);
      case 'map':
        return this.#map(node);
      case 'call':
        return this.#call(node);
      case 'rcall':
        return this.#methodCall(node);
      default:
        return this.#fail(node, `${node.op} is not supported`);
    }
  }

  #pair(node: Node): [Run, Run] {
    const [left, right] = node.args as [Node, Node];
    return [this.compile(left), this.compile(right)];
  }

  #value(node: Node): Run {
    let value = node.args;
    if (value instanceof Uint8Array) return constantBytes(value);
    // Unsigned literals are objects with a bigint inside.
    if (typeof value === 'object' && value !== null && 'value' in value) value = value.value;
    if (typeof value === 'bigint') {
      if (!isInt64(value)) this.#fail(node, 'this integer has more than 64 bits');
      const exact = canonicalNumber(value);
      return () => exact;
    }
    if (value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') {
      const constant = typeof value === 'number' ? canonicalNumber(value) : value;
      return () => constant;
    }
    return this.#fail(node, 'this literal is not supported');
  }

  #name(node: Node): Run {
    const name = node.args as string;
    const local = this.#locals.lastIndexOf(name);
    if (local !== -1) return frame => frame.locals[local] ?? null;
    if (name === 'input') return frame => frame.scope.input;
    if (name === 'steps') {
      this.readsAnyStep = true;
      return frame => {
        const all: [string, CelValue][] = [];
        for (const step of frame.scope.ancestors()) {
          frame.budget.spend(1);
          all.push([step, stepValue(step, frame)]);
        }
        return Object.fromEntries(all);
      };
    }
    if (name === 'item' || name === 'index') {
      this.readsItem = true;
      return ({ scope }) => itemValue(name, scope);
    }
    return this.#fail(node, `there is no "${name.slice(0, 60)}": an expression reads input and steps`);
  }

  #access(node: Node): Run {
    const [object, key] = node.args as [Node, Node | string];
    const literal =
      typeof key === 'string' ? key : key.op === 'value' && typeof key.args === 'string' ? key.args : null;
    if (object.op === 'id' && object.args === 'steps' && !this.#locals.includes('steps')) {
      if (literal !== null) {
        this.steps.add(literal);
        return frame => stepValue(literal, frame);
      }
      return this.#dynamicStep(key as Node);
    }
    const of = this.compile(object);
    if (literal !== null) {
      return frame => {
        const found = member(of(frame), literal);
        if (found === undefined) throw new CelError(`there is no "${literal.slice(0, 80)}" (has() asks first)`);
        return found;
      };
    }
    const by = this.compile(key as Node);
    return frame => {
      const at = by;
      const value = of(frame);
      const index = at(frame);
      const found = member(value, index);
      if (found === undefined) throw new CelError(`there is no [${quote(index)}]`);
      return found;
    };
  }

  #dynamicStep(key: Node): Run {
    this.readsAnyStep = true;
    const by = this.compile(key);
    return frame => {
      const step = by(frame);
      if (typeof step !== 'string' || !frame.scope.ancestors().has(step)) {
        throw new CelError(`${quote(step)} is no step before this one`);
      }
      return stepValue(step, frame);
    };
  }

  #arithmetic(node: Node): Run {
    const [left, right] = this.#pair(node);
    const operator = node.op as Arithmetic;
    return frame => arithmetic(operator, left(frame), right(frame), frame.budget);
  }

  #order(node: Node): Run {
    const [left, right] = this.#pair(node);
    const operator = node.op;
    return frame => {
      const difference = compare(left(frame), right(frame), operator, frame.budget);
      switch (operator) {
        case '<':
          return difference < 0;
        case '<=':
          return difference <= 0;
        case '>':
          return difference > 0;
        default:
          return difference >= 0;
      }
    };
  }

  #equality(node: Node): Run {
    const [left, right] = this.#pair(node);
    const same = node.op === '==';
    return frame => equal(left(frame), right(frame), frame.budget) === same;
  }

  #in(node: Node): Run {
    const [left, right] = this.#pair(node);
    return frame => {
      const value = left(frame);
      const container = right(frame);
      if (Array.isArray(container)) return container.some(item => equal(item, value, frame.budget));
      if (isMap(container)) return member(container, value) !== undefined;
      throw new CelError(`in takes a list or map, not ${typeName(container)}`);
    };
  }

  #negative(node: Node): Run {
    const operand = this.compile(node.args as Node);
    return frame => {
      const value = operand(frame);
      if (!isNumber(value)) throw new CelError(`- takes a number, not ${typeName(value)}`);
      return negate(value);
    };
  }

  #choice(node: Node): Run {
    const [condition, yes, no] = (node.args as [Node, Node, Node]).map(part => this.compile(part)) as [Run, Run, Run];
    return frame => (boolean(condition(frame), '?:') ? yes(frame) : no(frame));
  }

  #list(node: Node): Run {
    const items = (node.args as Node[]).map(item => this.compile(item));
    return frame => items.map(item => item(frame));
  }

  #map(node: Node): Run {
    const entries = (node.args as [Node, Node][]).map(
      ([key, value]) => [this.compile(key), this.compile(value)] as const,
    );
    return frame =>
      Object.fromEntries(
        entries.map(([key, value]) => {
          const name = key(frame);
          if (typeof name === 'object') throw new CelError(`${typeName(name)} cannot be a key`);
          return [String(name), value(frame)];
        }),
      );
  }

  #call(node: Node): Run {
    const [name, args] = node.args as [string, Node[]];
    if (name === 'has') return this.#has(node, args);
    return this.#apply(node, name, globalFunctions.get(name), args);
  }

  #apply(node: Node, name: string, found: CelFunction | undefined, args: Node[]): Run {
    if (!found) this.#fail(node, `there is no function "${name.slice(0, 60)}"`);
    if (!found.arity.includes(args.length)) this.#fail(node, `${name} takes another number of arguments`);
    const runs = args.map(arg => this.compile(arg));
    return frame =>
      found.call(
        runs.map(run => run(frame)),
        frame.budget,
      );
  }

  /** `has(a.b.c)`: true if the whole path exists. A gap anywhere in the path gives false, not an error. */
  #has(node: Node, args: Node[]): Run {
    const [target] = args;
    if (args.length !== 1 || target === undefined || (target.op !== '.' && target.op !== '[]')) {
      this.#fail(node, 'has takes one member such as has(input.name)');
    }
    const names: (string | Run)[] = [];
    let base: Node = target;
    while (base.op === '.' || base.op === '[]') {
      const [object, key] = base.args as [Node, Node | string];
      if (object.op === 'id' && object.args === 'steps') break;
      names.unshift(typeof key === 'string' ? key : this.compile(key));
      base = object;
    }
    const root = this.compile(base);
    return frame => {
      let value = root(frame);
      for (const name of names) {
        if (!isMap(value) && !Array.isArray(value)) return false;
        const key = typeof name === 'string' ? name : name(frame);
        const next = Array.isArray(value) && !isNumber(key) ? undefined : member(value, key);
        if (next === undefined) return false;
        value = next;
      }
      return true;
    };
  }

  #methodCall(node: Node): Run {
    const [name, receiver, args] = node.args as [string, Node, Node[]];
    const full = receiver.op === 'id' ? `${receiver.args}.${name}` : '';
    const encoder = this.#locals.includes(String(receiver.args)) ? undefined : encoders.get(full);
    if (encoder) return this.#apply(node, full, encoder, args);
    switch (name) {
      case 'all':
      case 'exists':
      case 'exists_one':
      case 'filter':
        return this.#loop(node, name, receiver, args, 2);
      case 'map':
        return this.#loop(node, name, receiver, args, args.length === 3 ? 3 : 2);
      default:
        return this.#apply(node, name, methods.get(name), [receiver, ...args]);
    }
  }

  #loop(node: Node, name: string, receiver: Node, args: Node[], arity: number): Run {
    const [variable] = args;
    if (args.length !== arity || variable?.op !== 'id') this.#fail(node, `${name} is written list.${name}(item, …)`);
    const over = this.compile(receiver);
    this.#locals.push(variable.args as string);
    const slot = this.#locals.length - 1;
    const bodies = args.slice(1).map(arg => this.compile(arg));
    this.#locals.pop();
    const [first, second] = bodies;
    if (!first) this.#fail(node, `${name} needs an expression`);
    const loop = loops[name] ?? this.#fail(node, `there is no ${name}`);
    const each =
      (body: Run, frame: Frame) =>
      (item: CelValue): CelValue => {
        frame.locals[slot] = item;
        return body(frame);
      };
    return frame => {
      const items = iterate(over(frame), frame.budget);
      return loop(items, each(first, frame), second && each(second, frame));
    };
  }
}

type Each = (item: CelValue) => CelValue;
const loops: Record<string, (items: CelValue[], test: Each, then?: Each) => CelValue> = {
  all: (items, test) => items.every(item => boolean(test(item), 'all')),
  exists: (items, test) => items.some(item => boolean(test(item), 'exists')),
  exists_one: (items, test) => items.filter(item => boolean(test(item), 'exists_one')).length === 1,
  filter: (items, test) => items.filter(item => boolean(test(item), 'filter')),
  map: (items, test, then) =>
    then ? items.filter(item => boolean(test(item), 'map')).map(then) : items.map(item => test(item)),
};
