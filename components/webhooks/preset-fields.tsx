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

/** The strength of a preset, as a label. */
function StrengthBadge({ preset }: { preset: PresetName }) {
  const { label, tone } = strengths[PRESETS[preset].strength];
  return (
    <Badge tone={tone} className="shrink-0">
      {label}
    </Badge>
  );
}

/** The strength of a preset, and the reason. */
export function PresetStrength({ preset }: { preset: PresetName }) {
  return (
    <p className="flex items-start gap-2 text-xs text-muted">
      <StrengthBadge preset={preset} />
      <span>{PRESETS[preset].why}</span>
    </p>
  );
}

/** The name and strength of a preset, for lists, with the reason on hover. */
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

/** Selects how deliveries are authenticated, with the fields of the preset. */
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

/** A field for the sender's secret, for presets that accept one. */
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
