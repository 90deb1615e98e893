import { useCallback, useEffect, useMemo, useState } from 'react';
import type { CompletionSource } from '../../code/completion.ts';
import { useCompletion } from '../../code/use-completion.tsx';
import { type FieldChoice, fieldChoices } from './field-types.ts';

export type FieldChoices = {
  choices: readonly FieldChoice[];
  completion: CompletionSource | undefined;
  /** Reads the choices again, because other steps may have changed. */
  refresh: () => void;
};

/** Returns the fields that a step can read. They are read when the form opens, and again when a list of them opens. */
export function useFieldChoices(step: string): FieldChoices {
  const completion = useCompletion(step, false);
  const [choices, setChoices] = useState<readonly FieldChoice[]>([]);
  const refresh = useCallback(() => {
    completion?.load([]).then(
      data => setChoices(fieldChoices(data)),
      // Without choices, the user can still type fields.
      () => undefined,
    );
  }, [completion]);
  useEffect(refresh, [refresh]);
  return useMemo(() => ({ choices, completion, refresh }), [choices, completion, refresh]);
}
