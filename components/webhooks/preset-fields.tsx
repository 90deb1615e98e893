'use client';
import { PRESET_NAMES, PRESETS, type PresetName, type Strength } from '@/server/domains/webhooks/presets/catalog.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';

const strengths: Record<Strength, { label: string; tone: Tone }> = {
  strong: { label: 'Strong', tone: 'ok' },
  medium: { label: 'Medium', tone: 'warn' },
  weak: { label: 'Weak', tone: 'bad' },
};

/** How strong a preset is, in a word. */
function StrengthBadge({ preset }: { preset: PresetName }) {
  const { label, tone } = strengths[PRESETS[preset].strength];
  return (
    <Badge tone={tone} className="shrink-0">
      {label}
    </Badge>
  );
}

/** How strong a preset is, and why. */
export function PresetStrength({ preset }: { preset: PresetName }) {
  return (
    <p className="flex items-start gap-2 text-xs text-muted">
      <StrengthBadge preset={preset} />
      <span>{PRESETS[preset].why}</span>
    </p>
  );
}

/** The name of a preset and how strong it is, for lists; the reason on hover. */
export function PresetSummary({ preset }: { preset: PresetName }) {
  const { label, why } = PRESETS[preset];
  return (
    <span className="flex items-center gap-2" title={why}>
      <span className="truncate text-muted">{label}</span>
      <StrengthBadge preset={preset} />
    </span>
  );
}

export type PresetDraft = { preset: PresetName; username: string; secret: string };
export type PresetProblems = { username?: string | undefined; secret?: string | undefined };

type Props = {
  draft: PresetDraft;
  onChange: (change: Partial<PresetDraft>) => void;
  problems: PresetProblems;
};

const options = PRESET_NAMES.map(value => ({
  value,
  label: PRESETS[value].label,
  hint: strengths[PRESETS[value].strength].label,
}));

/** The choice of how deliveries are authenticated, with the fields that the preset needs. */
export function PresetFields({ draft, onChange, problems }: Props) {
  const { preset, username, secret } = draft;
  return (
    <>
      <div className="flex flex-col gap-2">
        <Field label="Deliveries are authenticated by" hint="Choose the sender. It cannot be changed later.">
          <Select<PresetName>
            value={preset}
            options={options}
            onChange={chosen => onChange({ preset: chosen, username: '', secret: '' })}
          />
        </Field>
        <PresetStrength preset={preset} />
      </div>
      {preset === 'basic' ? (
        <Field label="Username" required error={problems.username}>
          <Input
            value={username}
            maxLength={100}
            autoComplete="off"
            onChange={event => onChange({ username: event.target.value })}
          />
        </Field>
      ) : null}
      <GivenSecret
        preset={preset}
        value={secret}
        problem={problems.secret}
        optional
        onChange={value => onChange({ secret: value })}
      />
    </>
  );
}

/** A field for the secret that the sender has, for presets whose secret may be given. */
export function GivenSecret({
  preset,
  value,
  problem,
  optional = false,
  onChange,
}: {
  preset: PresetName;
  value: string;
  problem: string | undefined;
  optional?: boolean;
  onChange: (value: string) => void;
}) {
  const { secretSource, secretHint } = PRESETS[preset];
  if (secretSource === 'baton') return null;
  const otherwise = secretSource === 'sender' ? 'You can add it later.' : 'Leave empty to generate one.';
  return (
    <Field
      label={preset === 'basic' ? 'Password' : 'Signing secret'}
      {...(optional ? { optional: true } : { required: true })}
      error={problem}
      hint={optional ? `${secretHint} ${otherwise}` : secretHint}
    >
      <Input type="password" autoComplete="off" value={value} onChange={event => onChange(event.target.value)} />
    </Field>
  );
}
