'use client';
import { useState } from 'react';
import { CopyButton } from '../ui/copy.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { type ExampleLanguage, exampleFor, exampleLanguages } from './examples.ts';

/** Shows how to deliver, in three languages. Without `secret`, which is shown only once, the example has a placeholder. */
export function ExampleTabs({ url, secret = 'whsec_…' }: { url: string; secret?: string }) {
  const [language, setLanguage] = useState<ExampleLanguage>('curl');
  return (
    <Tabs<ExampleLanguage>
      label="Example in"
      value={language}
      onChange={setLanguage}
      tabs={exampleLanguages.map(({ value, label }) => ({
        value,
        label,
        content: <Code label={`${label} example`} text={exampleFor(value, { url, secret, token: 'pat_…' })} />,
      }))}
    />
  );
}

function Code({ label, text }: { label: string; text: string }) {
  return (
    <div className="rounded-md border bg-sunken">
      <div className="flex items-center justify-between border-b py-0.5 pr-0.5 pl-3 text-xs text-muted">
        Ready to paste
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <ScrollRegion label={label} className="max-h-80 overflow-auto p-3">
        <pre className="font-mono text-xs leading-5">{text}</pre>
      </ScrollRegion>
    </div>
  );
}
