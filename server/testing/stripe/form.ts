/** A value of a request as Stripe reads it: only text, in objects and lists. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue };
export type Form = { [name: string]: FormValue };

/** Parses `items[0][price]=p&expand[]=x` as Stripe's servers do. Throws for a name that is not a path. */
export function readForm(text: string): Form {
  const root: Form = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
    if (!path) throw new Error(`Not a parameter: ${name}`);
    const [, first = '', rest = ''] = path;
    put(root, [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)], value);
  }
  return lists(root) as Form;
}

function put(into: Form, path: string[], value: string): void {
  const [key = '', ...rest] = path;
  const name = key === '' ? String(Object.keys(into).length) : key;
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const existing = into[name];
  const inner: Form = typeof existing === 'object' && !Array.isArray(existing) ? existing : {};
  into[name] = inner;
  put(inner, rest, value);
}

/** Objects whose names are 0, 1, … are lists. */
function lists(value: FormValue): FormValue {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(lists);
  const entries = Object.entries(value).map(([name, inner]) => [name, lists(inner)] as const);
  const isList = entries.length > 0 && entries.every(([name], at) => name === String(at));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** Returns a parameter as text; undefined: not given. */
export function text(form: Form, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value : undefined;
}

export function whole(form: Form, name: string): number | undefined {
  const value = text(form, name);
  return value === undefined ? undefined : Number(value);
}

export function flag(form: Form, name: string): boolean | undefined {
  const value = text(form, name);
  return value === undefined ? undefined : value === 'true';
}

/** Returns a parameter that is an object of texts (`metadata`), or empty. */
export function texts(form: Form, name: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inner(form, name)).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}

/** Returns a parameter that is an object. */
export function inner(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' && !Array.isArray(value) ? value : {};
}

/** Returns a parameter that is a list of objects; undefined: not given. An empty text empties the list. */
export function objects(form: Form, name: string): Form[] | undefined {
  const value = form[name];
  if (value === undefined) return undefined;
  return Array.isArray(value)
    ? value.flatMap(item => (typeof item === 'object' && !Array.isArray(item) ? [item] : []))
    : [];
}

export function textList(form: Form, name: string): string[] {
  const value = form[name];
  return Array.isArray(value) ? value.flatMap(item => (typeof item === 'string' ? [item] : [])) : [];
}
