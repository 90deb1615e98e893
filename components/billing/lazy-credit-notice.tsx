'use client';
import dynamic from 'next/dynamic';

/** The credit notice, loaded separately from the console's frame because most deployments never show it. */
export const LazyCreditNotice = dynamic(() => import('./credit-notice.tsx').then(module => module.CreditNotice));
