import { Field, Input } from '../ui/field.tsx';

/** Returns the origins in a text, separated by spaces or commas. */
export const readOrigins = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** A field for the origins to which the credentials may be sent. */
export function OriginsField({
  value,
  onChange,
  changing = false,
}: {
  value: string;
  onChange: (value: string) => void;
  /** True for an existing connection. */
  changing?: boolean;
}) {
  const hint = changing
    ? 'To add another address, also replace every credential above.'
    : 'The addresses that may receive the credentials. Empty: the first server you use them with.';
  return (
    <Field label="Sent to" optional hint={hint}>
      <Input
        value={value}
        spellCheck={false}
        autoComplete="off"
        placeholder="https://api.example.com"
        onChange={event => onChange(event.target.value)}
        className="font-mono text-xs"
      />
    </Field>
  );
}
