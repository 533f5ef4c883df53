import { GuestlistDashboard } from '@guestlist/elements/react';
import { useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** What the user may see, asked again before the token ends. */
const useEmbed = () => {
  const [embed, setEmbed] = useState({});
  const ask = useCallback(async () => {
    const answer = await fetch(`/embed-token${window.location.search}`, { method: 'POST' });
    setEmbed(await answer.json());
  }, []);
  useEffect(() => {
    ask();
  }, [ask]);
  useEffect(() => {
    if (embed.refreshAfter === undefined) return;
    const timer = setTimeout(ask, Math.max(1000, new Date(embed.refreshAfter) - Date.now()));
    return () => clearTimeout(timer);
  }, [ask, embed.refreshAfter]);
  return { ...embed, ask };
};

const Page = () => {
  const [name, setName] = useState('Numbers');
  const { error, token, serviceUrl, embeds, ask } = useEmbed();
  if (error !== undefined) return <p id="message">{error.message}</p>;
  if (token === undefined) return <p>Loading …</p>;
  return (
    <>
      <h1>{name}</h1>
      <GuestlistDashboard
        token={token}
        serviceUrl={serviceUrl}
        dashboardId={embeds[0].id}
        onTokenExpired={ask}
        onGuestlistLoaded={({ detail }) => setName(detail.name)}
      />
    </>
  );
};

createRoot(document.querySelector('#root')).render(<Page />);
