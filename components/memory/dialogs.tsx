'use client';
import { useUrlState } from '../ui/use-url-state.ts';
import { EpisodeDialog } from './episode-dialog.tsx';
import { ItemDialog } from './item-dialog.tsx';
import { RememberDialog } from './remember-dialog.tsx';

/** Shows the dialog that is open according to the URL. */
export function Dialogs() {
  const { get, set } = useUrlState();
  const item = get('item');
  const episode = get('episode');
  if (episode !== '')
    return (
      <EpisodeDialog
        key={episode}
        id={episode}
        around={get('chunk')}
        onClose={() => set({ episode: '', chunk: '' }, { push: true })}
      />
    );
  if (item !== '') return <ItemDialog key={item} id={item} onClose={() => set({ item: '' }, { push: true })} />;
  return get('open') === 'remember' ? <RememberDialog onClose={() => set({ open: '' })} /> : null;
}
