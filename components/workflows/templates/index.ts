import { contactCleanup } from './contact-cleanup.ts';
import { feedDigest } from './feed-digest.ts';
import { incidentEscalation } from './incident-escalation.ts';
import { messageTriage } from './message-triage.ts';
import { nightlyReport } from './nightly-report.ts';
import { onboardingChecklist } from './onboarding-checklist.ts';
import { purchaseApproval } from './purchase-approval.ts';
import { shipOrders } from './ship-orders.ts';
import type { Template } from './template.ts';
import { trialFollowUp } from './trial-follow-up.ts';
import { uptimeCheck } from './uptime-check.ts';
import { webhookToTicket } from './webhook-to-ticket.ts';

/** The templates, in the order of the dialog. Templates without needs come first. */
export const templates: readonly Template[] = [
  purchaseApproval,
  onboardingChecklist,
  incidentEscalation,
  contactCleanup,
  trialFollowUp,
  shipOrders,
  webhookToTicket,
  nightlyReport,
  uptimeCheck,
  feedDigest,
  messageTriage,
];
