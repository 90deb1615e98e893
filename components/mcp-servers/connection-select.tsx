'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Field } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Select } from '../ui/select.tsx';

/**
 * Selects one of the workspace's connections, or none (the empty string). A bound connection shows its name even before
 * its page of the list is loaded.
 */
export function ConnectionField({
  value,
  known,
  label = 'Connection',
  none = 'None',
  hint,
  onChange,
}: {
  value: string;
  /** The name of the bound connection. */
  known?: string | null;
  label?: string;
  none?: string;
  hint?: string;
  onChange: (id: string) => void;
}) {
  const trpc = useTRPC();
  const list = useQuery(trpc.connections_list.queryOptions({ limit: 200 }));
  const usable = list.data?.connections.filter(({ service }) => service !== 'llm') ?? [];
  const options = [{ value: '', label: none }, ...usable.map(({ id, name }) => ({ value: id, label: name }))];
  if (value && !options.some(option => option.value === value)) options.push({ value, label: known ?? value });
  return (
    <Field
      label={label}
      error={list.isError ? 'Could not load connections.' : null}
      hint={
        <>
          {hint ? `${hint} ` : null}
          <Link href="/connections?create=credentials" className="underline hover:text-text">
            Create a connection
          </Link>
        </>
      }
    >
      <Select value={value} options={options} onChange={onChange} />
    </Field>
  );
}
