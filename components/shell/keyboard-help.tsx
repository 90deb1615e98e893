'use client';
import { useSession } from '../session/session.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd, useShortcutText } from '../ui/kbd.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { settingsHome } from './pages.ts';
import { usePages } from './use-pages.ts';

type KeyGroup = { title: string; keys: [string, string][] };

const groupsFor = (goTo: KeyGroup['keys'], hasChat: boolean): KeyGroup[] => [
  {
    title: 'Everywhere',
    keys: [
      ['⌘ K', 'Search and commands'],
      ...(hasChat ? [['⌘ J', 'Chat, or Autopilot in the editor'] as [string, string]] : []),
      ['?', 'This help'],
      ['/', 'Search the list'],
      ['[', 'Collapse or open the sidebar'],
    ],
  },
  { title: 'Go to', keys: goTo },
  {
    title: 'Workflow canvas',
    keys: [
      ['Tab', 'Add a step'],
      ['n', 'Add a note'],
      ['↑ ↓ ← →', 'Go to the next step'],
      ['⌥ ↑ ↓ ← →', 'Move the selection'],
      ['⇧ ↑ ↓ ← →', 'Select several steps'],
      ['⌥ ⇧ ↑ ↓ ← →', 'Align the selection'],
      ['Enter', 'Open the step’s settings'],
      ['⇧ Enter', 'Go into the loop'],
      ['o', 'Open or close the loop'],
      ['l', 'Group into a loop'],
      ['⇧ L', 'Ungroup the loop'],
      ['x', 'Extract a sub-workflow'],
      ['s', 'How it starts'],
      ['m', 'Show or hide the map'],
      ['Esc', 'Back to the canvas'],
      ['⌫', 'Delete'],
      ['d', 'Disable or enable'],
      ['⌘ D', 'Duplicate'],
      ['⌘ C', 'Copy'],
      ['⌘ V', 'Paste'],
      ['⌘ A', 'Select all steps'],
      ['⌘ F', 'Search steps'],
      ['⌘ Z', 'Undo'],
      ['⇧ ⌘ Z', 'Redo'],
      ['⌘ S', 'Save now'],
    ],
  },
  {
    title: 'Inbox',
    keys: [
      ['j', 'Next task'],
      ['k', 'Previous task'],
      ['a', 'Approve'],
      ['r', 'Reject'],
    ],
  },
  {
    title: 'Memory review',
    keys: [
      ['j', 'Next proposal'],
      ['k', 'Previous proposal'],
      ['a', 'Accept'],
      ['e', 'Edit, then accept'],
      ['r', 'Reject'],
    ],
  },
];

function Keys({ keys }: { keys: string }) {
  return useShortcutText(keys)
    .split(' ')
    .map(key => <Kbd key={key}>{key}</Kbd>);
}

/** The list of keys, opened with `?`. */
export function KeyboardHelp({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const { main, settings } = usePages();
  const { agents } = useSession().me;
  const goTo = [...main, settingsHome, ...settings].flatMap((page): [string, string][] =>
    page.key ? [[`g ${page.key}`, page.label]] : [],
  );
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <ScrollRegion label="Keys" className="max-h-[calc(100dvh-120px)] overflow-y-auto">
        {/* Columns, not a grid: in the rows of a grid a short group would leave a gap beneath it. */}
        <div className="gap-x-8 sm:columns-2">
          {groupsFor(goTo, agents).map(group => (
            <section key={group.title} className="mb-5 break-inside-avoid">
              <h3 className="mb-1 text-xs text-faint">{group.title}</h3>
              <dl>
                {group.keys.map(([keys, meaning]) => (
                  <div key={keys} className="flex items-center justify-between gap-4 py-1">
                    <dt className="text-sm">{meaning}</dt>
                    <dd className="flex gap-1">
                      <Keys keys={keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </ScrollRegion>
    </Dialog>
  );
}
