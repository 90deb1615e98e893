'use client';
import { RadioGroup } from 'radix-ui';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Input } from '../ui/field.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { searchTemplates, type Template } from './templates/template.ts';

/** The start of a new workflow: empty, the example, or a template. */
export type Start = 'empty' | 'example' | Template;

const plainStarts = [
  { value: 'empty', label: 'Empty', hint: 'A blank canvas.' },
  { value: 'example', label: 'Example', hint: 'A script, a condition and an approval. Ready to publish and run.' },
] as const;

const keyOf = (start: Start) => (typeof start === 'string' ? start : start.slug);

/** Returns the templates, which are loaded separately from the page; undefined until then. */
export function useTemplates(): readonly Template[] | undefined {
  const [templates, setTemplates] = useState<readonly Template[]>();
  useEffect(() => {
    let isCurrent = true;
    import('./templates/index.ts').then(
      loaded => isCurrent && setTemplates(loaded.templates),
      () => isCurrent && setTemplates([]),
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return templates;
}

/** Cards to choose from, with a search; Enter in the search chooses the first card. */
export function StartFrom({ value, onChange }: { value: Start; onChange: (value: Start) => void }) {
  const id = useId();
  const [search, setSearch] = useState('');
  const templates = useTemplates();
  const isSearching = search.trim() !== '';
  const found = searchTemplates(templates ?? [], search);
  const choose = (key: string) => {
    const template = templates?.find(({ slug }) => slug === key);
    if (template) onChange(template);
    else if (key === 'empty' || key === 'example') onChange(key);
  };
  const chooseFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const [first] = found;
    if (isSearching && first) onChange(first);
  };
  return (
    <div className="flex flex-col gap-2">
      <p id={id} className="text-sm font-medium">
        Start from
      </p>
      <Input
        type="search"
        aria-label="Search templates"
        placeholder="Search templates"
        value={search}
        onChange={event => setSearch(event.target.value)}
        onKeyDown={chooseFirst}
      />
      <RadioGroup.Root
        aria-labelledby={id}
        value={keyOf(value)}
        onValueChange={choose}
        className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3"
      >
        {isSearching
          ? null
          : plainStarts.map(({ value: key, label, hint }) => (
              <StartCard key={key} value={key} label={label} hint={hint} />
            ))}
        {found.map(({ slug, name, sentence, needs }) => (
          <StartCard key={slug} value={slug} label={name} hint={sentence} needs={needs.map(({ label }) => label)} />
        ))}
        {templates === undefined ? [1, 2, 3, 4].map(key => <Skeleton key={key} className="h-24 rounded-md" />) : null}
      </RadioGroup.Root>
      <p role="status" className="text-xs text-muted">
        {isSearching && templates !== undefined && found.length === 0 ? 'No template matches.' : null}
      </p>
    </div>
  );
}

type CardProps = { value: string; label: string; hint: string; needs?: readonly string[] };

function StartCard({ value, label, hint, needs = [] }: CardProps) {
  const id = useId();
  return (
    <RadioGroup.Item
      value={value}
      aria-label={label}
      aria-describedby={id}
      className="flex flex-col rounded-md border bg-surface p-3 text-left hover:bg-hover data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
    >
      <span className="block text-sm font-medium">{label}</span>
      <span id={id} className="flex flex-col gap-1 text-xs text-muted">
        <span>{hint}</span>
        {needs.length > 0 ? <span>Needs {needs.join('; ')}.</span> : null}
      </span>
    </RadioGroup.Item>
  );
}
