'use client';
import { Plus, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/classes.ts';
import { Select } from '../../../ui/select.tsx';
import { RuleEditor } from './rule-editor.tsx';
import { emptyRule, MAX_DEPTH, otherJoin, type RuleGroup, type RuleNode } from './rules.ts';
import type { FieldChoices } from './use-field-choices.ts';

export type RuleContext = FieldChoices & { readOnly: boolean };

type Props = {
  group: RuleGroup;
  /** 1 is the outermost group. */
  depth: number;
  /** The numbers of the groups around this group, used in labels to tell rules apart. */
  path: readonly number[];
  onChange: (group: RuleGroup) => void;
  onRemove: (() => void) | null;
  context: RuleContext;
  /** Whether the group was just added, so that its first field takes the focus. */
  isNew?: boolean;
};

/** Returns a key for each rule that stays the same while other rules are added and removed. */
function useKeys(rules: readonly RuleNode[]) {
  const keys = useRef<number[]>([]);
  const made = useRef(0);
  while (keys.current.length < rules.length) keys.current.push(made.current++);
  keys.current.length = rules.length;
  const remove = (index: number) => keys.current.splice(index, 1);
  return { keyed: rules.map((rule, index) => ({ rule, index, key: keys.current[index] })), remove };
}

/** A group of rules: all of them or any of them must be true. A nested group uses the other join. */
export function GroupEditor({ group, depth, path, onChange, onRemove, context, isNew = false }: Props) {
  const { readOnly } = context;
  const { keyed, remove } = useKeys(group.rules);
  const [added, setAdded] = useState(isNew ? 0 : -1);
  const buttons = useRef<HTMLDivElement>(null);
  const changeRules = (rules: readonly RuleNode[]) => onChange({ ...group, rules });
  const removeAt = (index: number) => {
    remove(index);
    changeRules(group.rules.filter((_, at) => at !== index));
    // The focused button is gone.
    buttons.current?.querySelector('button')?.focus();
  };
  const add = (rule: RuleNode) => {
    setAdded(group.rules.length);
    changeRules([...group.rules, rule]);
  };
  const name = path.length === 0 ? 'Rules' : `Group ${path.map(each => each + 1).join('.')}`;
  return (
    <fieldset className={cx('flex min-w-0 flex-col gap-2', depth > 1 && 'rounded-md border bg-sunken p-2')}>
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center justify-between gap-2 text-xs text-muted">
        {depth === 1 && !readOnly ? (
          <Select
            label={`${name}: how many`}
            size="sm"
            className="w-44"
            value={group.join}
            options={[
              { value: 'and', label: 'All of these are true' },
              { value: 'or', label: 'Any of these is true' },
            ]}
            onChange={join => onChange(withJoin(group, join))}
          />
        ) : (
          <span>{group.join === 'and' ? 'All of these are true' : 'Any of these is true'}</span>
        )}
        {onRemove === null || readOnly ? null : (
          <IconButton label={`Remove ${name.toLowerCase()}`} size="sm" tooltip={false} onClick={onRemove}>
            <X aria-hidden className="size-3.5" />
          </IconButton>
        )}
      </div>
      {keyed.map(({ rule, index, key }) => {
        const change = (next: RuleNode) => changeRules(group.rules.map((each, at) => (at === index ? next : each)));
        return rule.kind === 'group' ? (
          <GroupEditor
            key={key}
            group={rule}
            depth={depth + 1}
            path={[...path, index]}
            onChange={change}
            onRemove={() => removeAt(index)}
            context={context}
            isNew={index === added}
          />
        ) : (
          <RuleEditor
            key={key}
            rule={rule}
            name={`Rule ${[...path, index].map(each => each + 1).join('.')}`}
            onChange={change}
            onRemove={group.rules.length > 1 || rule.field !== '' ? () => removeAt(index) : null}
            context={context}
            isNew={index === added}
          />
        );
      })}
      {readOnly ? null : (
        <div ref={buttons} className="flex flex-wrap gap-1">
          <AddButton onClick={() => add(emptyRule())}>Add a rule</AddButton>
          {depth < MAX_DEPTH ? (
            <AddButton
              onClick={() => add({ kind: 'group', join: otherJoin(group.join), rules: [emptyRule(), emptyRule()] })}
            >
              Add a group
            </AddButton>
          ) : null}
        </div>
      )}
    </fieldset>
  );
}

function AddButton({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button variant="ghost" size="sm" icon={<Plus aria-hidden className="size-3.5" />} onClick={onClick}>
      {children}
    </Button>
  );
}

/** Returns a group with another join; its nested groups alternate. */
export function withJoin(group: RuleGroup, join: RuleGroup['join']): RuleGroup {
  const rules = group.rules.map(rule => (rule.kind === 'group' ? withJoin(rule, otherJoin(join)) : rule));
  return { ...group, join, rules };
}
