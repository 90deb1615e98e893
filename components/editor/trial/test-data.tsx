'use client';
import { useId } from 'react';
import { LazyCodeEditor } from '../lazy-code-editor.tsx';

type Props = {
  label: string;
  hint: string;
  data: { text: string; set: (text: string) => void; problem: string | null };
  /** A new value resets the undo history of the editor. */
  revision: string;
  /** Whether the label is already shown above. */
  isTitled?: boolean;
};

/** An editor for JSON that a test reads. */
export function TestData({ label, hint, data, revision, isTitled = false }: Props) {
  const id = useId();
  const { text, set, problem } = data;
  return (
    <div className="flex flex-col gap-1">
      {isTitled ? null : <p className="text-sm font-medium">{label}</p>}
      <LazyCodeEditor
        key={revision}
        label={label}
        language="json"
        value={text}
        onChange={set}
        invalid={problem !== null}
        describedBy={`${id}-hint`}
        ownHistory
      />
      <div id={`${id}-hint`} className="text-xs">
        <p className="text-muted">{hint}</p>
        {problem ? <p className="wrap-anywhere text-bad">{problem}</p> : null}
      </div>
    </div>
  );
}
