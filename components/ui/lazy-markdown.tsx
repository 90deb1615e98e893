'use client';
import { lazy, Suspense } from 'react';

const Markdown = lazy(() => import('./markdown.tsx').then(module => ({ default: module.Markdown })));

/** Matches one paragraph of plain prose, which Markdown and its extensions would not change. */
const PLAIN = /^\p{L}[\p{L}\p{N} ,:;!?'"()%–—-]*(\.( [\p{L}\p{N} ,:;!?'"()%–—-]*)?)*$/u;

/** Returns true if `text` certainly looks the same with Markdown and without. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Renders Markdown. The parser (40 KB, gzip) is loaded only if a text needs it, and until then the source text is shown. */
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
