'use client';
import dynamic from 'next/dynamic';

/** The notice over every page, apart from the frame of the console: most deployments never show it. */
export const LazyCreditNotice = dynamic(() => import('./credit-notice.tsx').then(module => module.CreditNotice));
