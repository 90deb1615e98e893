import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';

// Older versions are left out, because a list of hundreds would not help. The API can set them.
const MAX_VERSIONS = 50;

/** Selects the version of a server to call: always the latest (null), or a fixed one. */
export function VersionField({
  latest,
  value,
  onChange,
}: {
  latest: number;
  value: number | null;
  onChange: (version: number | null) => void;
}) {
  const numbers = Array.from({ length: Math.min(latest, MAX_VERSIONS) }, (_, index) => latest - index);
  if (value !== null && !numbers.includes(value)) numbers.push(value);
  const options = [
    { value: '', label: `Latest (now version ${latest})` },
    ...numbers.map(number => ({ value: String(number), label: `Version ${number}` })),
  ];
  return (
    <Field label="Version" hint="A pinned version stays in use when a newer one is published.">
      <Select
        value={value === null ? '' : String(value)}
        options={options}
        onChange={text => onChange(text === '' ? null : Number(text))}
      />
    </Field>
  );
}
