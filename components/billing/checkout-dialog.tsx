'use client';
import type { Stripe, StripeElements } from '@stripe/stripe-js';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTheme } from 'next-themes';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState, FormError } from '../ui/states.tsx';
import { loadStripeFor, stripeAppearance } from './load-stripe.ts';
import type { Checkout } from './wire.ts';

type Props = {
  checkout: Checkout;
  publishableKey: string;
  title: string;
  /** The subject of the payment, or why a card is required. */
  description: string;
  /** The verb on the button: "Pay $20.00". */
  action: string;
  onDone: () => void;
  onClose: () => void;
};

/** Stripe's own form, which confirms a payment or a card. The entered data goes only to Stripe. */
export function CheckoutDialog({ publishableKey, title, description, onClose, ...form }: Props) {
  const stripe = useQuery({
    queryKey: ['stripe', publishableKey],
    queryFn: () => loadStripeFor(publishableKey),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog open onOpenChange={open => !open && onClose()} title={title} description={description}>
      {stripe.data ? (
        <PaymentForm stripe={stripe.data} onClose={onClose} {...form} />
      ) : stripe.isError ? (
        <ErrorState
          title="The payment form could not be loaded"
          error={new Error('Stripe cannot be reached from this browser. An extension may block it.')}
          onRetry={() => void stripe.refetch()}
        />
      ) : (
        <FormSkeleton />
      )}
    </Dialog>
  );
}

function FormSkeleton() {
  return (
    <div aria-busy className="flex flex-col gap-3">
      <Skeleton className="h-10 w-full" />
      <Skeleton className="h-10 w-full" />
      <Skeleton className="h-10 w-1/2" />
    </div>
  );
}

function PaymentForm({
  stripe,
  checkout,
  action,
  onDone,
  onClose,
}: Pick<Props, 'checkout' | 'action' | 'onDone' | 'onClose'> & { stripe: Stripe }) {
  const { place, elements, ready, failed } = usePaymentElement(stripe, checkout.client_secret);
  const confirm = useMutation({ mutationFn: () => confirmWith(stripe, elements, checkout.kind), onSuccess: onDone });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <FormError error={confirm.error ?? failed} />
      {ready || failed ? null : <FormSkeleton />}
      <div ref={place} />
      <p className="text-xs text-muted">
        Stripe asks for the card in its own form. The card number never reaches this server.
      </p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" type="submit" pending={confirm.isPending} disabled={!ready}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** Mounts Stripe's Payment Element at `place`, and removes it when the dialog closes. */
function usePaymentElement(stripe: Stripe, clientSecret: string) {
  const { resolvedTheme } = useTheme();
  const dark = resolvedTheme === 'dark';
  const place = useRef<HTMLDivElement>(null);
  const [elements, setElements] = useState<StripeElements | null>(null);
  const [ready, setReady] = useState(false);
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    if (!place.current) return;
    const made = stripe.elements({ clientSecret, appearance: stripeAppearance(dark) });
    const element = made.create('payment');
    element.on('ready', () => setReady(true));
    element.on('loaderror', ({ error }) => setFailed(new Error(error.message ?? 'The payment form did not load.')));
    element.mount(place.current);
    setElements(made);
    return () => {
      setReady(false);
      element.destroy();
    };
  }, [stripe, clientSecret, dark]);
  return { place, elements, ready, failed };
}

/** Confirms the entered data. Throws with Stripe's own message. If a bank requires its own page, that page returns to /billing. */
async function confirmWith(stripe: Stripe, elements: StripeElements | null, kind: Checkout['kind']): Promise<void> {
  if (!elements) throw new Error('The payment form is not ready yet.');
  const options = {
    elements,
    confirmParams: { return_url: `${window.location.origin}/billing` },
    redirect: 'if_required' as const,
  };
  const { error } = kind === 'payment' ? await stripe.confirmPayment(options) : await stripe.confirmSetup(options);
  if (error) throw new Error(error.message ?? 'The payment was not confirmed.');
}
