'use client';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { cx } from '../ui/classes.ts';
import { type ApiDocument, type ApiField, fieldsOf, type JsonSchema, typeOf } from './document.ts';

/** The fields of a body. A field that has fields itself can be unfolded. */
export function SchemaFields({
  schema,
  document,
  depth = 0,
}: {
  schema: JsonSchema;
  document: ApiDocument;
  depth?: number;
}) {
  const fields = fieldsOf(schema, document);
  if (fields.length === 0) return <p className="font-mono text-xs text-muted">{typeOf(schema, document)}</p>;
  return (
    <ul className={cx('flex flex-col', depth > 0 && 'ml-2 border-l pl-3')}>
      {fields.map(field => (
        <FieldLine key={field.name} field={field} document={document} depth={depth} />
      ))}
    </ul>
  );
}

function FieldLine({ field, document, depth }: { field: ApiField; document: ApiDocument; depth: number }) {
  const [open, setOpen] = useState(false);
  const name = (
    <>
      <code className="font-semibold text-text">{field.name}</code>
      <span className="font-mono text-xs wrap-anywhere text-muted">{field.type}</span>
      {field.required ? <span className="text-xs text-warn">required</span> : null}
    </>
  );
  return (
    <li className="border-b py-1.5 last:border-b-0">
      {field.inner ? (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex flex-wrap items-baseline gap-x-2 text-left hover:underline"
        >
          <ChevronRight aria-hidden className={cx('size-3 self-center text-faint', open && 'rotate-90')} />
          {name}
        </button>
      ) : (
        <span className="flex flex-wrap items-baseline gap-x-2">{name}</span>
      )}
      {field.description ? <p className="text-xs text-muted">{field.description}</p> : null}
      {open && field.inner ? (
        <div className="mt-1">
          <SchemaFields schema={field.inner} document={document} depth={depth + 1} />
        </div>
      ) : null}
    </li>
  );
}
