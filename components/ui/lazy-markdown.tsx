'use client';
import { lazy, Suspense } from 'react';

const Markdown = lazy(() => import('./markdown.tsx').then(module => ({ default: module.Markdown })));

/** Prose of one paragraph, in which Markdown and its extensions would mark nothing. */
const PLAIN = /^\p{L}[\p{L}\p{N} ,:;!?'"()%–—-]*(\.( [\p{L}\p{N} ,:;!?'"()%–—-]*)?)*$/u;

/** Whether `text` is shown the same with Markdown and without. True only where this is certain. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Markdown, whose parser (40 KB, gzip) is loaded only where a text needs it; until then the text stands as it was written. */
export function LazyMarkdown({ text }: { text: string }) {
  const plain = (
    <div className="flex flex-col gap-2 text-sm leading-5 wrap-anywhere">
      <p>{text}</p>
    </div>
  );
  if (isPlain(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  );
}
