'use client';
import { memo } from 'react';
import { Markdown } from '../ui/markdown.tsx';
import { blocksOf } from './markdown-blocks.ts';

const Block = memo(Markdown);

/** Renders Markdown that is being written. Only the last block is rendered again for new text. */
export function AnswerMarkdown({ text }: { text: string }) {
  return (
    <div className="flex flex-col gap-2">
      {blocksOf(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is identified by its position
        <Block key={index} text={block} />
      ))}
    </div>
  );
}
