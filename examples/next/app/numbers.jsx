'use client';
import { GuestlistDashboard } from '@guestlist/elements/react';
import { useCallback, useEffect, useState } from 'react';

export const Numbers = () => {
  const [embed, setEmbed] = useState({});
  const ask = useCallback(async () => {
    const answer = await fetch(`/embed-token${window.location.search}`, { method: 'POST' });
    setEmbed(await answer.json());
  }, []);
  useEffect(() => {
    ask();
  }, [ask]);
  if (embed.error !== undefined) return <p id="message">{embed.error.message}</p>;
  return (
    <GuestlistDashboard
      token={embed.token ?? null}
      serviceUrl={embed.serviceUrl ?? null}
      dashboardId={embed.embeds?.[0].id ?? null}
      onTokenExpired={ask}
    />
  );
};
