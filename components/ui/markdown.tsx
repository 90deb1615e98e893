import type { ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Link } from './link.tsx';
import { ScrollRegion } from './scroll-region.tsx';

/**
 * Renders Markdown from third parties, such as task instructions and changelogs. react-markdown renders no raw HTML. Images become links,
 * because loading an image would tell its host who reads the page. Links open a new tab without an opener.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="flex flex-col gap-2 text-sm leading-5 wrap-anywhere">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

function Anchor({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  const className = 'text-accent-text underline underline-offset-2';
  if (href?.startsWith('/') && !href.startsWith('//'))
    return (
      <Link href={href} className={className}>
        {children}
      </Link>
    );
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={className}>
      {children}
    </a>
  );
}

const heading = ({ children }: { children?: ReactNode }) => <p className="font-semibold">{children}</p>;

// Headings become bold paragraphs, because the page has its own outline.
const components: Components = {
  a: ({ href, children }) => <Anchor href={href}>{children}</Anchor>,
  img: ({ src, alt }) => (typeof src === 'string' ? <Anchor href={src}>{alt || src}</Anchor> : null),
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  ul: ({ children }) => <ul className="list-disc pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="list-decimal pl-5">{children}</ol>,
  blockquote: ({ children }) => <blockquote className="border-l-2 pl-3 text-muted">{children}</blockquote>,
  code: ({ children }) => <code className="rounded-sm bg-hover px-1">{children}</code>,
  pre: ({ children }) => (
    <ScrollRegion label="Code" className="overflow-x-auto">
      <pre className="w-max min-w-full rounded-md border bg-sunken p-2 text-xs [&_code]:bg-transparent [&_code]:p-0">
        {children}
      </pre>
    </ScrollRegion>
  ),
  table: ({ children }) => (
    <ScrollRegion label="Table" className="overflow-x-auto">
      <table className="border-collapse text-left [&_td]:border [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:px-2 [&_th]:py-1">
        {children}
      </table>
    </ScrollRegion>
  ),
};
