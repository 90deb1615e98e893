'use client';
import { Switch as Radix } from 'radix-ui';

/** An on/off switch; `label` is its accessible name. */
export function Switch({
  label,
  checked,
  onCheckedChange,
  disabled,
}: {
  label: string;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <Radix.Root
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onCheckedChange={onCheckedChange}
      className="relative h-5 w-9 shrink-0 rounded-full bg-line-strong p-0.5 transition-colors data-[state=checked]:bg-accent disabled:opacity-55"
    >
      <Radix.Thumb className="block size-4 rounded-full bg-white transition-transform data-[state=checked]:translate-x-4" />
    </Radix.Root>
  );
}
