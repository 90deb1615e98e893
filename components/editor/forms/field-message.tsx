import type { ReactNode } from 'react';
import type { StepFormProps } from '../inspector/step-forms.ts';

/** The problems of fields whose controls do not show them. */
export function FieldMessages({ of, names }: { of: StepFormProps['problemOf']; names: readonly string[] }) {
  return names.map(name => (
    <div key={name} className="flex flex-col gap-1 empty:hidden">
      <Message tone="bad">{of(name, 'error')}</Message>
      <Message tone="warn">{of(name, 'warning')}</Message>
    </div>
  ));
}

function Message({ tone, children }: { tone: 'bad' | 'warn'; children: ReactNode }) {
  if (!children) return null;
  return tone === 'bad' ? (
    <p role="alert" className="text-xs wrap-anywhere text-bad">
      {children}
    </p>
  ) : (
    <p className="text-xs wrap-anywhere text-warn">{children}</p>
  );
}
