import { Field, Textarea } from '../ui/field.tsx';

/** The settings of an instance or a profile as JSON. */
export function SettingsField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <Field
      label="Settings (JSON)"
      optional
      hint={
        <>
          <code>headers</code>: additional headers, no secrets. <code>default_args</code>: arguments for steps that omit
          them. Everything else is sent with each call as <code>_meta.config</code>.
        </>
      }
    >
      <Textarea
        rows={4}
        spellCheck={false}
        className="font-mono text-xs"
        value={value}
        placeholder={'{ "default_args": { "limit": 10 } }'}
        onChange={event => onChange(event.target.value)}
      />
    </Field>
  );
}
