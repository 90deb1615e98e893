'use client';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { downloadParts } from '../ui/download.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toastError } from '../ui/toaster.tsx';
import { type EventFormat, eventFile } from './event-file.ts';

/** The page size of the log: the API's maximum. */
const PAGE = 1_000;

type Props = { workflowId: string; runId: string; count: number };

/** Downloads the whole log of a run as a file. The log is read page by page. */
export function EventsDownload({ workflowId, runId, count }: Props) {
  const client = useTRPCClient();
  const [done, setDone] = useState<number | null>(null);
  const save = async (format: EventFormat) => {
    setDone(0);
    try {
      const pages = async (after: number) => {
        const { events } = await client.runs_list_events.query({ id: workflowId, runID: runId, after, limit: PAGE });
        setDone(after + events.length);
        return events;
      };
      const { parts, type } = await eventFile(format, pages);
      downloadParts(`run-${runId.slice(0, 8)}.${format}`, type, parts);
    } catch (error) {
      toastError(error);
    } finally {
      setDone(null);
    }
  };
  return (
    <Menu
      trigger={
        <Button size="sm" pending={done !== null} icon={<Download aria-hidden className="size-3.5" />}>
          {done === null ? 'Download' : `${Math.min(100, Math.floor((done / Math.max(1, count)) * 100))}%`}
        </Button>
      }
    >
      <MenuItem onSelect={() => void save('json')}>JSON: one list of all events</MenuItem>
      <MenuItem onSelect={() => void save('ndjson')}>NDJSON: one event a line</MenuItem>
    </Menu>
  );
}
