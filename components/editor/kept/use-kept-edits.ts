'use client';
import { useCallback, useEffect, useState } from 'react';
import { merge, sameJson } from '../../../server/domains/workflows/edits/index.ts';
import { useSession } from '../../session/session.tsx';
import { beforeSignOut } from '../../trpc/session-gate.ts';
import { toast } from '../../ui/toaster.tsx';
import type { EditorStore } from '../editor-store.ts';
import { type UnfinishedFields, unfinishedFields } from '../inspector/unfinished-fields.ts';
import type { Draft } from '../use-draft.ts';
import { EditsKeeper } from './edits-keeper.ts';
import { EditsInBrowser, type KeptEdits } from './kept-edits.ts';
import { heldKeys } from './live-keys.ts';

const edits = new EditsInBrowser();

/** The maximum time for which signing out waits for a draft to be saved, in ms. */
const SAVE_MS = 3_000;

type Kept = { fields: UnfinishedFields; keeper: EditsKeeper };
/** Keyed by store: a store outlives its editor and continues to save after the page is left. */
const keptOf = new WeakMap<EditorStore, Kept>();

function keeperOf(store: EditorStore, user: string, workflowId: string): Kept {
  const known = keptOf.get(store);
  if (known !== undefined) return known;
  const fields = unfinishedFields(user, workflowId, () => keeper.changed());
  const keeper: EditsKeeper = new EditsKeeper({
    user,
    workflowId,
    store,
    fields: fields.ofDraft,
    edits,
    onRefused: () =>
      toast.warning('Leave this tab open until your changes are saved', {
        description: 'This browser has no room to keep them, or does not allow it.',
        duration: 20_000,
      }),
  });
  const kept = { fields, keeper };
  keptOf.set(store, kept);
  return kept;
}

export type KeptDraft = {
  /** Texts of fields that do not parse yet. */
  fields: UnfinishedFields;
  /** Unsaved edits of a closed editor. */
  offer: KeptEdits | null;
  /** The number of restores, used as a key: fields show restored texts only if they are mounted again. */
  restored: number;
  restore: () => Promise<void>;
  discard: () => void;
};

/** Keeps unsaved edits of a draft in this browser, and offers the edits that an earlier editor left. */
export function useKeptEdits(workflowId: string, { store }: Draft, editable: boolean): KeptDraft {
  const user = useSession().me.user.id;
  const [{ fields, keeper }] = useState(() => keeperOf(store, user, workflowId));
  const [offer, setOffer] = useState<KeptEdits | null>(null);
  const [restored, setRestored] = useState(0);
  useFlushes(store, keeper);
  const checkForEdits = useCallback(async () => {
    const held = await heldKeys();
    const found = edits.list(user, workflowId).filter(({ key }) => !held.has(key) && key !== keeper.key);
    for (const { key } of found.filter(each => isContained(each, store, fields))) edits.forget(key);
    setOffer(found.find(each => !isContained(each, store, fields)) ?? null);
  }, [user, workflowId, store, fields, keeper]);
  useEffect(() => {
    if (!editable) return;
    const onVisible = () => void (document.visibilityState === 'visible' && checkForEdits());
    onVisible();
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, [editable, checkForEdits]);
  const restore = async () => {
    if (offer === null) return;
    const { base, graph, text } = offer;
    const { draft } = store.state;
    const before = { draft: { ...draft, graph: base.graph }, etag: base.etag };
    const result = await store.restore(before, { ...draft, graph }, text);
    if (!result.ok) return toast.error(result.message);
    for (const [id, unread] of offer.fields) if (!fields.has(id)) fields.set(id, unread);
    keeper.flush();
    edits.forget(offer.key);
    setRestored(n => n + 1);
    void checkForEdits();
  };
  const discard = () => {
    if (offer === null) return;
    const { key } = offer;
    const text = edits.forget(key);
    toast.success('Unsaved changes discarded', {
      duration: 10_000,
      action: {
        label: 'Undo',
        onClick: () => {
          if (text !== null) edits.putBack(key, text);
          void checkForEdits();
        },
      },
    });
    void checkForEdits();
  };
  return { fields, offer, restored, restore, discard };
}

/** Returns whether restoring edits would change nothing, because they were saved and only the response was lost. */
function isContained({ base, graph, text, fields }: KeptEdits, store: EditorStore, present: UnfinishedFields): boolean {
  if (text !== null || fields.some(([id, unread]) => present.get(id) !== unread)) return false;
  const { draft } = store.state;
  const result = merge({ ...draft, graph: base.graph }, { ...draft, graph }, draft);
  return result.ok && sameJson(result.draft.graph, draft.graph);
}

/** Keeps the latest edits before the page may end, and saves them before the user signs out. */
function useFlushes(store: EditorStore, keeper: EditsKeeper): void {
  useEffect(() => {
    const { flush } = keeper;
    const onHide = () => void (document.visibilityState === 'hidden' && flush());
    const onSignOut = async () => {
      await Promise.race([store.save(), new Promise(resolve => setTimeout(resolve, SAVE_MS))]);
      flush();
    };
    beforeSignOut.add(onSignOut);
    document.addEventListener('visibilitychange', onHide);
    window.addEventListener('pagehide', flush);
    return () => {
      flush();
      beforeSignOut.delete(onSignOut);
      document.removeEventListener('visibilitychange', onHide);
      window.removeEventListener('pagehide', flush);
    };
  }, [store, keeper]);
}
