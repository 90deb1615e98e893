'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { usePermissions, useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';

type Settings = Outputs['chat_get_settings'];
const purposes = {
  assistant_model: { label: 'Chats without an agent', hint: 'You can choose another model in a new chat.' },
  autopilot_model: { label: 'Autopilot', hint: null },
  extraction_model: { label: 'Extracting memories', hint: 'Suggested when memories are extracted.' },
} as const;
type Purpose = keyof typeof purposes;

/** Edits the default models of the workspace. Each choice is saved at once. */
export function DefaultModels({ settings }: { settings: Settings }) {
  const { me } = useSession();
  const { isAdmin } = usePermissions();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}));
  const save = useMutation(
    trpc.chat_patch_settings.mutationOptions({
      onSuccess: saved => {
        queries.setQueryData(trpc.chat_get_settings.queryKey({}), saved);
        toast.success('Default model saved');
      },
    }),
  );
  const usable = (catalog.data?.providers ?? [])
    .filter(({ configured }) => configured)
    .flatMap(({ models }) => models)
    .filter(({ supports }) => supports.tools)
    .map(({ id }) => id);
  const optionsFor = (purpose: Purpose) => {
    const chosen = settings[purpose];
    const ids = chosen === null || usable.includes(chosen) ? usable : [chosen, ...usable];
    return [{ value: '', label: 'First model with a key' }, ...ids.map(id => ({ value: id, label: id }))];
  };
  const shown = (Object.keys(purposes) as Purpose[]).filter(each => me.memory || each !== 'extraction_model');
  return (
    <Card
      title="Default models"
      description="These models answer when no model is chosen. Only models that can call tools are listed."
    >
      <div className="flex flex-col items-start gap-4">
        <FormError error={save.error} />
        {shown.map(purpose => (
          <Field key={purpose} label={purposes[purpose].label} hint={purposes[purpose].hint} className="w-full sm:w-80">
            <Select
              value={settings[purpose] ?? ''}
              options={optionsFor(purpose)}
              disabled={!isAdmin || save.isPending}
              onChange={value => save.mutate({ [purpose]: value === '' ? null : value })}
            />
          </Field>
        ))}
      </div>
    </Card>
  );
}
