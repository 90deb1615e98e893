import { useMemo } from 'react';
import { useNamed } from '../../graph/use-named.ts';
import { type Names, namesOf } from './object-names.ts';

/** Returns the names of the workflows, instances and connections that the user may see, by id. */
export function useObjectNames(enabled: boolean): Names {
  const named = useNamed({ workflows: enabled, instances: enabled, connections: enabled });
  return useMemo(() => namesOf(named), [named]);
}
