'use client';
import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';
import { useUrlState } from '../../ui/use-url-state.ts';
import type { InspectorProps } from './inspector.tsx';

const GraphFields = dynamic(() => import('./graph-fields.tsx').then(module => module.GraphFields), { ssr: false });

/**
 * The input, the output and the failure handler of the workflow as fields. The section is collapsed at first, because its editors are
 * large.
 */
export function WorkflowFields(props: InspectorProps) {
  const url = useUrlState();
  const asked = url.get('settings') !== '';
  const [open, setOpen] = useState(asked);
  useEffect(() => {
    if (asked) setOpen(true);
  }, [asked]);
  return (
    <details
      className="border-t p-4"
      open={open}
      onToggle={event => {
        setOpen(event.currentTarget.open);
        if (!event.currentTarget.open) url.set({ settings: undefined });
      }}
    >
      <summary className="text-sm font-medium">Input, output and failure handling</summary>
      {open ? <GraphFields {...props} /> : null}
    </details>
  );
}
