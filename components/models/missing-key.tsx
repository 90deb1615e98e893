'use client';
import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';

/** Says that agents need a model, and links to the page of model keys. Renders nothing if the workspace has a key. */
export function MissingKey() {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}));
  if (!catalog.data || catalog.data.providers.some(({ configured }) => configured)) return null;
  return (
    <div role="status" className="mb-4 flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      <KeyRound aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p>
        Agents need a language model, and this workspace has no model key.{' '}
        {canWrite ? (
          <>
            Add a key under{' '}
            <Link href="/settings/model-keys" className="underline">
              Model keys
            </Link>
            . To try agents without a key, start the scripted model with <code>npm run fake-model</code> and add it as
            an OpenAI-compatible server.
          </>
        ) : (
          'Ask a contributor to add one under Model keys.'
        )}
      </p>
    </div>
  );
}
