import { useRef, useState } from 'react';
import { type Row, rowsOf } from './form-model.ts';

/** Returns the rows for these names. A row keeps its key when it is renamed or moved. */
export function useRows(names: readonly string[]): readonly Row[] {
  const last = useRef(0);
  const next = () => {
    last.current += 1;
    return last.current;
  };
  const [rows, setRows] = useState<readonly Row[]>(() => rowsOf([], names, next));
  const current = rowsOf(rows, names, next);
  if (current !== rows) setRows(current);
  return current;
}

/** Returns a key for each entry of a list without names, and a function to call when an entry is removed. */
export function useKeys(count: number): { keys: readonly number[]; forget: (index: number) => void } {
  const last = useRef(count);
  const [keys, setKeys] = useState<readonly number[]>(() => Array.from({ length: count }, (_, index) => index));
  const current =
    keys.length === count
      ? keys
      : keys.length > count
        ? keys.slice(0, count)
        : [...keys, ...Array.from({ length: count - keys.length }, () => last.current++)];
  if (current !== keys) setKeys(current);
  return { keys: current, forget: index => setKeys(current.toSpliced(index, 1)) };
}
