'use client';
import { GuestlistDashboard } from '@guestlist/elements/react';
import { useState } from 'react';

export const Numbers = (properties) => {
  const [name, setName] = useState('');
  return (
    <>
      <h1>{name}</h1>
      <GuestlistDashboard {...properties} urlFilters={false} onGuestlistLoaded={({ detail }) => setName(detail.name)} />
    </>
  );
};
