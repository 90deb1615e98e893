'use client';
import { type ReactNode, useState } from 'react';
import { Field, Input } from '../ui/field.tsx';
import { isSlug, MAX_SLUG_LENGTH, SLUG_HINT, suggestSlug } from './slug.ts';

export type WorkspaceProblems = { name?: string; slug?: string };

/** Returns the problems that prevent the form from being submitted. */
export function findWorkspaceProblems({ name, slug }: { name: string; slug: string }): WorkspaceProblems {
  return {
    ...(name === '' ? { name: 'Enter a name.' } : {}),
    ...(isSlug(slug)
      ? {}
      : { slug: 'Use 1 to 63 lowercase letters, digits and hyphens. Do not start or end with a hyphen.' }),
  };
}

/** Fields for a workspace's name and slug. The slug follows the name until the user edits it. */
export function WorkspaceFields({
  nameField,
  label,
  problems,
  autoFocus = false,
}: {
  /** The name of the form field for the workspace's name; the slug's field is `slug`. */
  nameField: string;
  label: ReactNode;
  problems: WorkspaceProblems;
  /** Puts the focus on the name. */
  autoFocus?: boolean;
}) {
  const [slug, setSlug] = useState('');
  const [edited, setEdited] = useState(false);
  return (
    <>
      <Field label={label} required error={problems.name}>
        <Input
          name={nameField}
          required
          autoFocus={autoFocus}
          maxLength={120}
          autoComplete="organization"
          onChange={event => !edited && setSlug(suggestSlug(event.target.value))}
        />
      </Field>
      <Field label="Slug" required hint={SLUG_HINT} error={problems.slug}>
        <Input
          name="slug"
          required
          maxLength={MAX_SLUG_LENGTH}
          value={slug}
          onChange={event => {
            setSlug(event.target.value);
            setEdited(event.target.value !== '');
          }}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="font-mono"
        />
      </Field>
    </>
  );
}
